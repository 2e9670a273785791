// Package idempotency answers a mutation that comes again under its Idempotency-Key with the
// first answer, without carrying it out again (wire contract, Idempotency-Key).
//
// A request claims its key before it is carried out and keeps its answer after. The claim
// ends by itself after ClaimLife, so that a gateway that died does not block the key; the
// answer is kept for AnswerLife.
//
// Non-obvious:
//   - A key is of one principal and one method, path and query. The same key elsewhere is
//     another one.
//   - An answer is kept before it is given: who has it and asks again gets it again.
//   - What is not kept can be tried again: answers from 500 on, of which it is not known
//     whether anything was done, 401, 403 and 429, which are not about the request, refusals
//     that are retriable, as a resharding under way, and answers above MaxAnswer. Such a
//     repetition is carried out.
//   - Dry runs change nothing and pass by.
package idempotency

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/exchange"
)

const (
	// HeaderKey carries the key of a request: 1 to MaxKey printable ASCII characters.
	HeaderKey = "Idempotency-Key"
	// HeaderReplayed is "true" on an answer that is given again.
	HeaderReplayed = "Idempotency-Replayed"
	// MaxKey is the length of the longest key in bytes.
	MaxKey = 128
	// MaxAnswer is the size of the largest body in bytes that is kept.
	MaxAnswer = 256 << 10
)

const (
	// ClaimLife is how long a request may be under way before its key can be claimed again;
	// longer than any mutation takes (gateway, Proxy).
	ClaimLife = 2 * time.Minute
	// AnswerLife is how long an answer is kept.
	AnswerLife = 24 * time.Hour
)

const (
	// claimTimeout bounds how long a request waits for its claim.
	claimTimeout = 2 * time.Second
	// settleTimeout bounds how long keeping an answer or dropping a claim may take.
	settleTimeout = 5 * time.Second
)

// Keeper is the pipeline's stage for Idempotency-Key.
type Keeper struct {
	store   Store
	now     func() time.Time
	log     *slog.Logger
	answers httpx.Answers
	away    atomic.Bool // the store did not answer last
}

// New returns a stage that keeps answers in store. A nil log discards.
func New(store Store, now func() time.Time, log *slog.Logger) *Keeper {
	log = httpx.Logger(log)
	return &Keeper{store: store, now: now, log: log, answers: httpx.NewAnswers(log)}
}

// Stage lets the first request under a key through and answers the others itself: with the
// first answer, with IDEMPOTENCY_KEY_REUSED where the body is another one, or with
// IDEMPOTENCY_KEY_IN_USE while the first is under way. It refuses keys that are malformed,
// and all keys with STORE_UNAVAILABLE while the store is away. It stands after
// authorisation, so that an answer is given again only to who may still ask for it.
func (k *Keeper) Stage(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := exchange.Of(r.Context())
		values := r.Header.Values(HeaderKey)
		if len(values) == 0 || !x.Route.Mutation || x.Route.DryRun {
			next.ServeHTTP(w, r)
			return
		}
		if err := checkKey(values); err != nil {
			k.refuse(w, r, err)
			return
		}
		claim := Claim{Key: keyOf(x, values[0]), BodyHash: x.BodyHash, Token: ulid.Make().String()}
		found, err := k.claim(r.Context(), claim)
		switch {
		case err != nil:
			k.refuse(w, r, err)
		case found.State == Claimed:
			k.carryOut(w, r, claim, next)
		case found.BodyHash != claim.BodyHash:
			k.refuse(w, r, protocol.Errorf(protocol.CodeIdempotencyKeyReused,
				"this Idempotency-Key was used with another body, take a new key for another request"))
		case found.State == UnderWay:
			k.refuse(w, r, protocol.Errorf(protocol.CodeIdempotencyKeyInUse,
				"the first request with this Idempotency-Key is still under way, ask again for its answer"))
		default:
			x.Replayed = true
			replay(w, found.Answer)
		}
	})
}

// claim asks the store, whether or not the caller stays.
func (k *Keeper) claim(ctx context.Context, claim Claim) (Found, *protocol.Error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), claimTimeout)
	defer cancel()
	found, err := k.store.Claim(ctx, claim, k.now())
	if errors.Is(err, ErrFull) {
		return Found{}, protocol.Errorf(protocol.CodeOverloaded, "%s, so nothing was done", ErrFull).Because(err)
	}
	k.note(ctx, err)
	if err != nil {
		return Found{}, protocol.Errorf(protocol.CodeStoreUnavailable,
			"the store of Idempotency-Keys does not answer, so nothing was done").Because(err)
	}
	return found, nil
}

// carryOut serves the request and then keeps its answer, or drops the claim where there is
// none to keep, and only then gives it. Where next panics, or the answer is too large to be
// held back, the claim is dropped after.
func (k *Keeper) carryOut(w http.ResponseWriter, r *http.Request, claim Claim, next http.Handler) {
	ctx, held, settled := r.Context(), &holder{ResponseWriter: w}, false
	defer func() {
		if !settled {
			k.settle(ctx, claim, nil)
		}
	}()
	next.ServeHTTP(held, r)
	answer := held.answer()
	settled = true
	k.settle(ctx, claim, answer)
	if err := held.release(); err != nil {
		k.log.DebugContext(ctx, "answer not delivered", "error", err)
	}
}

// settle keeps an answer, or drops the claim where it is nil, whether or not the caller has
// gone away. A failure leaves the claim to end by itself.
func (k *Keeper) settle(ctx context.Context, claim Claim, answer *Answer) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	var err error
	if answer == nil {
		err = k.store.Drop(ctx, claim)
	} else {
		err = k.store.Keep(ctx, claim, *answer, k.now())
	}
	if err != nil {
		k.log.WarnContext(ctx, "Idempotency-Key not settled, a repetition may be carried out again once its claim ends",
			"answered", answer != nil, "claimLife", ClaimLife, "error", err)
	}
}

func (k *Keeper) refuse(w http.ResponseWriter, r *http.Request, refusal *protocol.Error) {
	exchange.Of(r.Context()).Code = refusal.Code
	if refusal.Code == protocol.CodeIdempotencyKeyInUse {
		w.Header().Set("Retry-After", "1")
	}
	k.answers.Error(w, r, refusal)
}

// note logs once that the store went away, and once that it is back.
func (k *Keeper) note(ctx context.Context, err error) {
	if k.away.Swap(err != nil) == (err != nil) {
		return
	}
	if err == nil {
		k.log.InfoContext(ctx, "Idempotency-Keys can be claimed again")
		return
	}
	k.log.WarnContext(ctx, "Idempotency-Keys cannot be claimed", "error", err)
}

// replay gives an answer again.
func replay(w http.ResponseWriter, answer Answer) {
	header := w.Header()
	header["Content-Type"] = nil // nobody guesses one where there was none
	if answer.ContentType != "" {
		header.Set("Content-Type", answer.ContentType)
	}
	header.Set("Content-Length", strconv.Itoa(len(answer.Body)))
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set(HeaderReplayed, "true")
	w.WriteHeader(answer.Status)
	_, _ = w.Write(answer.Body) // a caller that has gone away can ask again
}
