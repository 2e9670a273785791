package proxy

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/exchange"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/route"
)

const (
	// tokenLife is how long a token for an upstream is good.
	tokenLife = time.Minute
	// reuse is how long the same one is used for reads and heartbeats.
	reuse = 20 * time.Second
	// maxKept bounds the tokens that are kept.
	maxKept = 4096
	// anonymous is the subject where nobody has authenticated.
	anonymous = "anonymous"
)

// credentials signs what the gateway shows to services (gateway, Authentication).
type credentials struct {
	ring *auth.Keyring
	now  func() time.Time

	mu   sync.RWMutex
	kept map[holder]kept
}

// holder is for whom, with which rights and where to a token is. A change of rights makes
// another holder, so that it works at once.
type holder struct {
	service route.Service
	name    string
	roles   auth.Roles
	scopes  string
	// client is the address in a token for the console.
	client string
}

type kept struct {
	header string
	until  time.Time
}

// header returns the Authorization header for an exchange. That of a mutation is new and
// names the request.
func (c *credentials) header(e *exchange.Exchange, requestID string) (string, error) {
	who := principalOf(e)
	client := clientOf(e)
	if e.Route.Mutation {
		return c.sign(who, e.Route.Service, requestID, client)
	}
	at := holder{service: e.Route.Service, name: who.Name, roles: who.Roles, scopes: scopesOf(who), client: client}
	now := c.now()
	c.mu.RLock()
	found := c.kept[at]
	c.mu.RUnlock()
	if now.Before(found.until) {
		return found.header, nil
	}
	header, err := c.sign(who, e.Route.Service, "", client)
	if err == nil {
		c.keep(at, kept{header, now.Add(reuse)})
	}
	return header, err
}

func (c *credentials) keep(at holder, token kept) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.kept) >= maxKept {
		clear(c.kept)
	}
	c.kept[at] = token
}

func (c *credentials) sign(who auth.Principal, service route.Service, requestID, client string) (string, error) {
	now := c.now()
	token, err := c.ring.Sign(auth.Claims{
		ID: ulid.Make().String(), Subject: who.Name, Audience: []string{string(service)},
		IssuedAt: now, ExpiresAt: now.Add(tokenLife),
		Roles: who.Roles, Scopes: slices.Clone(who.Scopes), RequestID: requestID, Client: client,
	})
	if err != nil {
		return "", fmt.Errorf("make a token for the %s: %w", service, err)
	}
	return "Bearer " + token, nil
}

// principalOf returns whom the service is told of. Where members need no credential, whoever
// was let through is a member.
func principalOf(e *exchange.Exchange) auth.Principal {
	who := e.Principal
	if e.Route.Access.MemberAPI && !who.May(e.Route.Access.Roles, e.Route.Stream) {
		who.Roles, who.Scopes = auth.Member, nil
	}
	if who.Name == "" {
		who.Name = anonymous
	}
	return who
}

// clientOf returns the address that the console is told of, so that what it asks in somebody's
// name is audited as from that one's browser.
func clientOf(e *exchange.Exchange) string {
	if e.Route.Service != route.Web || !e.Client.Address.IsValid() {
		return ""
	}
	return e.Client.Address.String()
}

func scopesOf(who auth.Principal) string {
	if len(who.Scopes) == 0 {
		return ""
	}
	var all strings.Builder
	for _, scope := range who.Scopes {
		all.WriteString(string(scope))
		all.WriteByte(0) // no scope has it
	}
	return all.String()
}
