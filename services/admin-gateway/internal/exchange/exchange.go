// Package exchange holds what the stages of the gateway's pipeline know of one request. Each
// stage fills in its part and reads those of the stages before it; the order is in package
// pipeline.
package exchange

import (
	"context"
	"net/netip"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/route"
)

// Exchange is one request on its way through the pipeline. It belongs to the goroutine that
// serves the request.
type Exchange struct {
	// Began is when the request came.
	Began time.Time
	// Client is who is believed to ask: the peer, or what a trusted proxy says of it.
	Client Client
	// Route is what is asked for.
	Route route.Route
	// Body is the whole body; empty where the route takes none.
	Body []byte
	// BodyHash is the SHA-256 of Body in hexadecimal, empty as long as no body was read.
	BodyHash string

	// Principal is who asks, the zero value as long as, or where, nobody has authenticated.
	Principal auth.Principal
	// TokenID is the jti of the login token or session, empty for other credentials.
	TokenID string
	// FormToken is what the forms of a page have to bring along for this session; empty for
	// other credentials (reliability, Console, CSRF).
	FormToken string

	// Code is the error code of the answer where the gateway refused the request itself.
	Code protocol.Code
	// Replayed tells that the answer is an earlier one, given again for its Idempotency-Key.
	Replayed bool
	// Intended tells that the audit has an intent of the request, so that it may be sent on.
	Intended bool
	// Upstream names the instance that answered, as its answer does; empty where none did.
	Upstream string
}

// Client says where a request comes from (gateway, Rate limit; F37).
type Client struct {
	// Address is who is believed to ask. Limits and locks go by it.
	Address netip.Addr
	// Peer is who is connected.
	Peer netip.Addr
	// Forwarded is what the request says about who it comes from, believed or not, cut to 256
	// bytes. It is for the audit only.
	Forwarded string
}

type key struct{}

// With returns a context that carries the exchange.
func With(ctx context.Context, e *Exchange) context.Context { return context.WithValue(ctx, key{}, e) }

// Of returns the exchange of a request's context. Where there is none it returns an empty
// one, which nobody else sees.
func Of(ctx context.Context) *Exchange {
	if e, ok := ctx.Value(key{}).(*Exchange); ok {
		return e
	}
	return &Exchange{}
}
