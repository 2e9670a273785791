package proxy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/route"
)

// maxRefusal bounds the body of a refusal of an upstream, in bytes.
const maxRefusal = 64 << 10

// consolePath is where the pages of the console begin.
const consolePath = "/console"

// passed tells whether a header of an answer of a service reaches the caller. Never among them:
// Location, but that of the console to a page of its own, and what says how a body is framed or
// encoded.
func passed(by route.Service, name string) bool {
	switch name {
	case "Content-Disposition": // of a file that the console offers
		return by == route.Web
	case "Content-Type", "Content-Length", "Etag", "Cache-Control", "Retry-After", "Allow", "Last-Modified",
		"Content-Security-Policy", "X-Frame-Options", "Referrer-Policy":
		return true
	default: // X-Request-Id among them: the gateway has said it already
		return false
	}
}

// answer is what may be passed on of an upstream's answer. Trailers stay behind.
type answer struct {
	status int
	header http.Header
	body   io.ReadCloser
	length int64 // of the body, -1 when it is not known
}

func pass(by route.Service, from *http.Response, body io.ReadCloser, length int64) *answer {
	header := make(http.Header, len(from.Header))
	for name, values := range from.Header {
		if passed(by, name) {
			header[name] = values
		}
	}
	if to := from.Header.Get("Location"); from.StatusCode == http.StatusSeeOther && ownPage(to) {
		header["Location"] = []string{to}
	}
	header["X-Content-Type-Options"] = []string{"nosniff"}
	return &answer{status: from.StatusCode, header: header, body: body, length: length}
}

// response is the answer in the form that the reverse proxy takes.
func (a *answer) response(to *http.Request) *http.Response {
	return &http.Response{
		StatusCode: a.status, Proto: to.Proto, ProtoMajor: to.ProtoMajor, ProtoMinor: to.ProtoMinor,
		Header: a.header, Body: a.body, ContentLength: a.length, Request: to,
	}
}

// refusal reads an answer with an error status whole. It returns its body and code; the code
// is empty where it is no refusal of the wire contract.
func refusal(from *http.Response) ([]byte, protocol.Code, error) {
	body, err := io.ReadAll(io.LimitReader(from.Body, maxRefusal+1))
	if err != nil {
		return nil, "", fmt.Errorf("read the refusal: %w", err)
	}
	return body, codeIn(from, body), nil
}

func codeIn(from *http.Response, body []byte) protocol.Code {
	kind, _, _ := strings.Cut(from.Header.Get("Content-Type"), ";")
	var said protocol.ErrorResponse
	if kind != "application/json" || len(body) > maxRefusal || json.Unmarshal(body, &said) != nil ||
		said.Status != httpx.StatusName(from.StatusCode) {
		return ""
	}
	return said.ErrorCode
}

// ownPage tells whether an address is that of a page of the console.
func ownPage(address string) bool {
	to, err := url.Parse(address)
	return err == nil && to.Scheme == "" && to.Host == "" && to.User == nil && path.Clean(to.Path) == to.Path &&
		(to.Path == consolePath || strings.HasPrefix(to.Path, consolePath+"/"))
}

// judge decides whether an answer is passed on. The code is that of a refusal that was read
// already, else empty.
func judge(asked route.Route, status int, code protocol.Code) error {
	switch {
	case status == http.StatusSeeOther && asked.Service == route.Web:
		return nil
	case status < http.StatusOK, status >= http.StatusMultipleChoices && status < http.StatusBadRequest && status != http.StatusNotModified:
		return misunderstood(asked, status)
	case status == http.StatusUnauthorized && asked.Service != route.Web:
		return protocol.Errorf(protocol.CodeUpstreamFailed, "the %s does not take this gateway's tokens", asked.Service)
	case asked.Service == route.Web && (status == http.StatusServiceUnavailable || status < http.StatusInternalServerError):
		return nil // a page says what is wrong
	case code == "" && status >= http.StatusBadRequest:
		return misunderstood(asked, status)
	default:
		return nil
	}
}

// whole is a body that was read already.
func whole(body []byte) io.ReadCloser { return io.NopCloser(bytes.NewReader(body)) }
