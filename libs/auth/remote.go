package auth

import (
	"context"
	"crypto/ed25519"
	"log/slog"
	"sync"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
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
	// maxWaiting bounds the callers that wait for a fetch: whoever invents ids must not pile
	// up requests behind a gateway that hangs. What comes on top is refused at once.
	maxWaiting = 256
)

// Remote knows the keys of a gateway by its JWK set. It is safe for concurrent use.
type Remote struct {
	fetch func(context.Context) (map[string]ed25519.PublicKey, error)
	log   *slog.Logger
	ended <-chan struct{}
	// wanted has a token from the begin of a fetch until the loop takes it up.
	wanted chan struct{}

	mu      sync.Mutex
	known   map[string]ed25519.PublicKey
	began   time.Time     // when the last fetch began
	under   chan struct{} // closed at the end of the fetch that is under way; nil without
	waiting int
}

// NewRemote fetches the JWK set at url, now and every 5 minutes until ctx ends, and when a
// token names a key that is not known, at most every 2 seconds. It does not wait: who comes
// before the first answer waits in PublicKey. A gateway that does not answer is no error:
// the keys that are known stay, and tokens of others are refused until it does. What fails
// goes to log. Redirects are not followed, and the set has at most 64 kB. The error tells
// that url is none.
func NewRemote(ctx context.Context, url string, log *slog.Logger) (*Remote, error) {
	at, err := newEndpoint(url)
	if err != nil {
		return nil, err
	}
	return newRemote(ctx, at.fetch, log.With("url", at.url.Redacted())), nil
}

func newRemote(ctx context.Context, fetch func(context.Context) (map[string]ed25519.PublicKey, error), log *slog.Logger) *Remote {
	r := &Remote{fetch: fetch, log: log, ended: ctx.Done(), wanted: make(chan struct{}, 1)}
	r.begin()
	go r.run(ctx)
	return r
}

// PublicKey implements Keys. For a key that is not known it waits for a fetch, at most 3
// seconds, if one is under way or may begin.
func (r *Remote) PublicKey(ctx context.Context, id string) (ed25519.PublicKey, error) {
	if key := r.get(id); key != nil {
		return key, nil
	}
	if !isThumbprint(id) {
		return nil, ErrUnknownKey
	}
	r.await(ctx)
	if key := r.get(id); key != nil {
		return key, nil
	}
	return nil, ErrUnknownKey
}

func (r *Remote) run(ctx context.Context) {
	ticker := clock.NewTicker(refreshEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			r.mu.Lock()
			r.begin()
			r.mu.Unlock()
		case <-r.wanted:
			r.renew(ctx)
		}
	}
}

// begin asks the loop for a fetch, unless one is under way. The caller holds the lock, or is
// alone.
func (r *Remote) begin() {
	if r.under != nil {
		return
	}
	r.began, r.under = clock.Now(), make(chan struct{})
	r.wanted <- struct{}{} // there is room: the token of the fetch before was taken up
}

// renew fetches the keys and lets those go on who wait for them.
func (r *Remote) renew(ctx context.Context) {
	bounded, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	keys, err := r.fetch(bounded)
	if err != nil && ctx.Err() == nil {
		r.log.WarnContext(ctx, "keys of the gateway could not be fetched; tokens that new ones would verify are refused", "error", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		r.known = keys
	}
	close(r.under)
	r.under = nil
}

func (r *Remote) get(id string) ed25519.PublicKey {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.known[id]
}

// await waits for the end of the fetch that is under way or may begin now. It returns at
// once where there is none, and where too many wait.
func (r *Remote) await(ctx context.Context) {
	end := r.enter()
	if end == nil {
		return
	}
	defer r.leave()
	select {
	case <-end:
	case <-ctx.Done():
	case <-r.ended:
	}
}

func (r *Remote) enter() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waiting == maxWaiting {
		return nil
	}
	if r.under == nil && clock.Since(r.began) >= askAgainAfter {
		r.begin()
	}
	if r.under != nil {
		r.waiting++
	}
	return r.under
}

func (r *Remote) leave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting--
}
