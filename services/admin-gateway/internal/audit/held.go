package audit

import (
	"fmt"
	"net/http"
)

// maxHeld is how much of a mutation's answer is held back, in bytes. A longer one goes out
// when it reaches that.
const maxHeld = 1 << 20

// held keeps an answer back until commit has been called, once, with what it is.
type held struct {
	http.ResponseWriter

	commit   func(status int, body []byte)
	status   int // 0 before the first word
	body     []byte
	released bool
}

// WriteHeader implements http.ResponseWriter. Interim answers (1xx) are left out.
func (h *held) WriteHeader(status int) {
	switch {
	case h.released:
		h.ResponseWriter.WriteHeader(status)
	case h.status == 0 && status >= http.StatusOK:
		h.status = status
	}
}

// Write implements http.ResponseWriter.
func (h *held) Write(data []byte) (int, error) {
	if h.status == 0 {
		h.status = http.StatusOK
	}
	if !h.released && len(h.body)+len(data) > maxHeld {
		h.release()
	}
	if h.released {
		n, err := h.ResponseWriter.Write(data)
		if err != nil {
			return n, fmt.Errorf("answer: %w", err)
		}
		return n, nil
	}
	h.body = append(h.body, data...)
	return len(data), nil
}

// FlushError keeps http.ResponseController from flushing what is held back.
func (h *held) FlushError() error {
	if h.released {
		return http.NewResponseController(h.ResponseWriter).Flush()
	}
	return nil
}

// Unwrap lets http.ResponseController reach deadlines.
func (h *held) Unwrap() http.ResponseWriter { return h.ResponseWriter }

// release commits and lets the answer go. A caller that has gone does not get it.
func (h *held) release() {
	if h.released {
		return
	}
	h.commit(h.status, h.body)
	h.released = true
	if h.status == 0 {
		return // net/http answers 200 if anybody is there
	}
	h.ResponseWriter.WriteHeader(h.status)
	_, _ = h.ResponseWriter.Write(h.body)
	h.body = nil
}
