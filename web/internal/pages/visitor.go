package pages

import (
	"context"
	"net/http"
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/web/internal/backend"
	"github.com/redis-stream-coordinator/rsc/web/internal/model"
	"github.com/redis-stream-coordinator/rsc/web/internal/view"
)

// visitor is who looks at a page.
type visitor struct {
	principal auth.Principal // no name for somebody who has not logged in
	token     string
	// formToken is what the forms of this one's pages have to bring along; the gateway checks it.
	formToken string
}

// known tells whether the visitor has logged in: the gateway makes tokens for others too, which
// give no right.
func (v visitor) known() bool { return v.principal.Name != "" && v.formToken != "" }

// visitorOf reads the gateway's token. Without one that is good nobody has logged in.
func (p *Pages) visitorOf(r *http.Request) visitor {
	token, err := httpx.Bearer(r.Header)
	if err != nil {
		return visitor{}
	}
	claims, err := p.verifier.Verify(r.Context(), token)
	if err != nil {
		return visitor{}
	}
	return visitor{principal: claims.Principal(), token: token, formToken: r.Header.Get(auth.HeaderFormToken)}
}

// scopes tells visitors apart that are bound to other streams.
func (v visitor) scopes() string {
	var all strings.Builder
	for _, scope := range v.principal.Scopes {
		all.WriteString(string(scope))
		all.WriteByte(0) // no scope has it
	}
	return all.String()
}

// asking returns the context in which the API is asked in the visitor's name.
func (v visitor) asking(ctx context.Context) context.Context {
	return backend.With(ctx, func() string { return v.token })
}

// frame returns what all pages show around what is their own.
func (p *Pages) frame(r *http.Request, who visitor, title, section string) view.Frame {
	frame := view.Frame{
		Title: title, Section: section, Root: Root, Here: r.URL.RequestURI(), Version: p.cfg.Build.Version,
	}
	if who.known() {
		frame.User, frame.Roles = who.principal.Name, who.principal.Roles.Names()
		frame.MayChange, frame.FormToken = who.principal.Roles.Any(auth.Write), who.formToken
		frame.Scopes = model.ScopeWords(who.principal.Scopes)
	}
	return frame
}
