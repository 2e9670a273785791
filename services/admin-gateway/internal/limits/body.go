// Package limits bounds what a caller may cost before anybody knows who it is: the bytes of
// a body, the connections of an address, and the requests at once (wire contract, Rules;
// reliability section 5, Resources).
package limits

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"

	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/exchange"
)

// Body reads bodies whole, so that what stands behind it has the size that a route allows
// and no framing of the caller's. Nothing is ever decompressed.
type Body struct{ answers httpx.Answers }

// NewBody returns the stage; its refusals are written by answers.
func NewBody(answers httpx.Answers) *Body { return &Body{answers: answers} }

// Stage fills the exchange's Body, for mutations its BodyHash too. It refuses with
// INVALID_REQUEST, UNSUPPORTED_MEDIA_TYPE or PAYLOAD_TOO_LARGE.
func (b *Body) Stage(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e := exchange.Of(r.Context())
		if err := take(e, w, r); err != nil {
			e.Code = codeOf(err)
			w.Header().Set("Connection", "close") // what is left of the body is nobody's request
			b.answers.Error(w, r, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func take(e *exchange.Exchange, w http.ResponseWriter, r *http.Request) error {
	if e.Route.MaxBody == 0 {
		return refuseBody(r)
	}
	readBody := httpx.ReadBody
	if e.Route.Form {
		readBody = httpx.ReadForm
	}
	body, err := readBody(w, r, e.Route.MaxBody)
	if err != nil {
		return err
	}
	e.Body = body
	if e.Route.Mutation {
		hash := sha256.Sum256(body)
		e.BodyHash = hex.EncodeToString(hash[:])
	}
	return nil
}

// refuseBody looks for a body where the route takes none; one of no bytes is none.
func refuseBody(r *http.Request) error {
	if r.ContentLength == 0 || r.Body == nil {
		return nil
	}
	if r.ContentLength < 0 {
		n, err := io.ReadFull(r.Body, make([]byte, 1))
		if n == 0 && errors.Is(err, io.EOF) {
			return nil
		}
	}
	return protocol.Errorf(protocol.CodeInvalidRequest, "this endpoint takes no body")
}

func codeOf(err error) protocol.Code {
	if refusal, ok := errors.AsType[*protocol.Error](err); ok {
		return refusal.Code
	}
	return protocol.CodeInternal
}
