package proxy

import (
	"net/http"
	"net/url"
	"sync"

	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/route"
)

const (
	// copySize is how much of an answer is copied at a time, in bytes.
	copySize = 16 << 10
	// maxHeader is the largest header that is passed on, in bytes; longer ones are left out.
	// Together they must not make a head that a service refuses.
	maxHeader = 4 << 10
)

// outgoing writes a request anew for a service: the route's method, path and query, and of
// the caller's headers only those that change what is answered. So nothing of
// how the caller framed the request, who it says it is, or which method it would rather have
// gets through. The courier adds the instance, the body and the trace.
func outgoing(to route.Route, given http.Header, requestID, authorization string) *http.Request {
	path, err := url.PathUnescape(to.Path)
	if err != nil {
		path = to.Path // the route has escaped it, so this cannot be
	}
	header := make(http.Header, 8)
	for _, name := range [...]string{"Accept", "If-None-Match", "User-Agent"} {
		if values := given[name]; len(values) > 0 && sizeOf(values) <= maxHeader {
			header[name] = values
		}
	}
	switch {
	case to.Form:
		header["Content-Type"] = []string{"application/x-www-form-urlencoded"}
	case to.MaxBody > 0:
		header["Content-Type"] = []string{"application/json"}
	}
	if requestID != "" {
		header[httpx.HeaderRequestID] = []string{requestID}
	}
	header["Authorization"] = []string{authorization}
	return &http.Request{
		Method: to.Method, URL: &url.URL{Path: path, RawPath: to.Path, RawQuery: to.Query},
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: header,
	}
}

func sizeOf(values []string) int {
	size := 0
	for _, value := range values {
		size += len(value)
	}
	return size
}

// buffers lets answers be copied without setting memory aside for each.
type buffers struct{ free sync.Pool }

func newBuffers() *buffers {
	return &buffers{free: sync.Pool{New: func() any { return new([copySize]byte) }}}
}

// Get implements httputil.BufferPool.
func (b *buffers) Get() []byte {
	if buffer, ok := b.free.Get().(*[copySize]byte); ok {
		return buffer[:]
	}
	return make([]byte, copySize)
}

// Put implements httputil.BufferPool.
func (b *buffers) Put(buffer []byte) {
	if len(buffer) == copySize {
		b.free.Put((*[copySize]byte)(buffer))
	}
}
