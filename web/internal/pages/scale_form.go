package pages

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/web/internal/model"
)

// The second one of two that were sent under one key asks inUseTries times for the answer of the
// first, inUsePause apart.
const (
	inUseTries = 6
	inUsePause = 300 * time.Millisecond
)

// typedOf reads a form that confirms a change. INVALID_REQUEST for what is no form.
func typedOf(r *http.Request) (model.Typed, error) {
	r.Body = http.MaxBytesReader(nil, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		return model.Typed{}, protocol.Errorf(protocol.CodeInvalidRequest, "the form cannot be read").Because(err)
	}
	form := r.PostForm
	return model.Typed{
		Word: strings.TrimSpace(form.Get("word")), Reason: strings.TrimSpace(form.Get("reason")), Once: form.Get("once"), Plan: form.Get("plan"),
	}, nil
}

// mayChange tells whether it is of use to show a visitor a form; the API decides.
func mayChange(who visitor) bool { return who.known() && who.principal.Roles.Any(auth.Write) }

// once makes a change under the key of its form: it is carried out once, however often the form is
// sent (wire contract, Idempotency-Key). Where it was sent twice, as by a double click, the second
// one waits a little for the answer of the first.
func once[A any](ctx context.Context, api scaleAPI, key string, change func(*client.Admin) (A, error)) (A, error) {
	var none A
	keyed, err := api.Once(key)
	if err != nil {
		return none, err
	}
	for try := 1; ; try++ {
		made, err := change(keyed)
		refusal, is := errors.AsType[*protocol.Error](err)
		if !is || refusal.Code != protocol.CodeIdempotencyKeyInUse || try == inUseTries {
			return made, err
		}
		if err := clock.Sleep(ctx, inUsePause); err != nil {
			return none, err
		}
	}
}

// refusalOf says why a change was not made, beside its form. It returns the error where there is
// a page for it, as for who may not.
func refusalOf(err error) (*model.Refusal, int, error) {
	refusal, refused := errors.AsType[*protocol.Error](err)
	switch {
	case errors.Is(err, client.ErrUnauthorized), errors.Is(err, client.ErrForbidden):
		return nil, 0, err
	case refused && protocol.FaultOf(refusal.Code).Status == http.StatusNotFound:
		return nil, 0, err
	case refused:
		return model.NewRefusal(refusal.Code, refusal.Message), protocol.FaultOf(refusal.Code).Status, nil
	case errors.Is(err, client.ErrUnavailable):
		return model.NoAnswer(), http.StatusServiceUnavailable, nil
	default:
		return nil, 0, err
	}
}

// renewed returns what was typed with a new key, unless the same form may be sent again: where
// nobody knows what became of it, or the API keeps no such answer.
func renewed(typed model.Typed, refusal *model.Refusal) model.Typed {
	if refusal.Code == "" || protocol.FaultOf(protocol.Code(refusal.Code)).Retriable {
		return typed
	}
	typed.Once = rand.Text()
	return typed
}
