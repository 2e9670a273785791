package auth

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/MicahParks/jwkset"
	"github.com/MicahParks/keyfunc/v3"
	"golang.org/x/time/rate"
)

const (
	// refreshEvery is how often the keys are fetched again, and so how long a key that was
	// withdrawn is still taken.
	refreshEvery = 5 * time.Minute
	// askAgainAfter is how often unknown key ids may lead to a fetch: whoever invents ids
	// must not make the gateway busy.
	askAgainAfter = 2 * time.Second
	// fetchTimeout bounds one fetch.
	fetchTimeout = 3 * time.Second
)

// Remote knows the keys of a gateway by its JWK set. It is safe for concurrent use.
type Remote struct{ stored jwkset.Storage }

// NewRemote fetches the JWK set at url, now and every 5 minutes until ctx ends, and when a
// token names a key that is not known, at most every 2 seconds. A gateway that does not
// answer is no error: tokens are refused until it does. What fails goes to log; redirects
// are not followed.
func NewRemote(ctx context.Context, url string, log *slog.Logger) (*Remote, error) {
	failed := func(string) func(context.Context, error) {
		return func(ctx context.Context, err error) {
			log.WarnContext(ctx, "keys of the gateway could not be fetched; tokens that they would verify are refused", "url", url, "error", err)
		}
	}
	keys, err := keyfunc.NewDefaultOverrideCtx(ctx, []string{url}, keyfunc.Override{
		Client: &http.Client{
			Timeout:       fetchTimeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		HTTPTimeout:             fetchTimeout,
		RateLimitWaitMax:        time.Millisecond,
		RefreshErrorHandlerFunc: failed,
		RefreshInterval:         refreshEvery,
		RefreshUnknownKID:       rate.NewLimiter(rate.Every(askAgainAfter), 1),
	})
	if err != nil {
		return nil, fmt.Errorf("keys at %s: %w", url, err)
	}
	return &Remote{stored: keys.Storage()}, nil
}

// PublicKey implements Keys.
func (r *Remote) PublicKey(ctx context.Context, id string) (ed25519.PublicKey, error) {
	found, err := r.stored.KeyRead(ctx, id)
	if err != nil {
		return nil, errors.Join(ErrUnknownKey, err)
	}
	public, ok := found.Key().(ed25519.PublicKey)
	if !ok {
		return nil, fmt.Errorf("%w: it is %T, not Ed25519", ErrUnknownKey, found.Key())
	}
	return public, nil
}
