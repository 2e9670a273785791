package idempotency

import (
	"bytes"
	"encoding/json"
	"net/http"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// holder holds an answer back until it is kept. An answer that grows above MaxAnswer is
// passed on from there as it comes.
type holder struct {
	http.ResponseWriter
	status   int // 0 as long as nothing was answered
	body     bytes.Buffer
	released bool
}

// WriteHeader notes the final status; 1xx answers are passed on.
func (h *holder) WriteHeader(status int) {
	switch {
	case status < http.StatusOK:
		h.ResponseWriter.WriteHeader(status)
	case h.status == 0:
		h.status = status
	}
}

// Write implements http.ResponseWriter.
func (h *holder) Write(data []byte) (int, error) {
	if h.status == 0 {
		h.status = http.StatusOK
	}
	if !h.released && h.body.Len()+len(data) <= MaxAnswer {
		return h.body.Write(data)
	}
	if err := h.release(); err != nil {
		return 0, err
	}
	return h.ResponseWriter.Write(data)
}

// FlushError does nothing while the answer is held back; it keeps http.ResponseController
// from flushing the writer below, which would send a status that is not the answer's.
func (h *holder) FlushError() error {
	if !h.released {
		return nil
	}
	return http.NewResponseController(h.ResponseWriter).Flush()
}

// Unwrap lets http.ResponseController reach deadlines.
func (h *holder) Unwrap() http.ResponseWriter { return h.ResponseWriter }

// answer returns the whole answer, or nil where it is none to keep.
func (h *holder) answer() *Answer {
	if h.status == 0 {
		h.status = http.StatusOK // as net/http does for a handler that says nothing
	}
	if h.released || !kept(h.status) || h.retriable() {
		return nil
	}
	return &Answer{Status: h.status, ContentType: h.Header().Get("Content-Type"), Body: h.body.Bytes()}
}

// retriable tells whether the answer is a refusal that asks for another try.
func (h *holder) retriable() bool {
	var refusal protocol.ErrorResponse
	return h.status >= http.StatusBadRequest && json.Unmarshal(h.body.Bytes(), &refusal) == nil && refusal.Retriable
}

// kept tells which answers are about the request and final.
func kept(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests:
		return false
	default:
		return status < http.StatusInternalServerError
	}
}

// release passes on what was held back.
func (h *holder) release() error {
	if h.released {
		return nil
	}
	h.released = true
	h.ResponseWriter.WriteHeader(h.status)
	if h.body.Len() == 0 {
		return nil // 204 has no body to write
	}
	_, err := h.ResponseWriter.Write(h.body.Bytes())
	return err
}
