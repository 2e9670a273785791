package httpx

import (
	"bytes"
	"errors"
	"mime"
	"net/http"
	"os"
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// firstBuffer bounds what is set aside on the word of a Content-Length alone.
const firstBuffer = 8 << 10

// The media types of bodies.
const (
	typeJSON = "application/json"
	typeForm = "application/x-www-form-urlencoded"
)

// ReadBody returns the body of r, which must say that it is JSON and have at most
// limit bytes. Refusals are *protocol.Error: UNSUPPORTED_MEDIA_TYPE,
// PAYLOAD_TOO_LARGE (as soon as it shows, before more is read) or INVALID_REQUEST.
func ReadBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	return readBody(w, r, typeJSON, limit)
}

// ReadForm is ReadBody for what a form of a page posts (application/x-www-form-urlencoded).
func ReadForm(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	return readBody(w, r, typeForm, limit)
}

func readBody(w http.ResponseWriter, r *http.Request, kind string, limit int64) ([]byte, error) {
	if r.ContentLength == 0 {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "body is empty")
	}
	if err := checkMediaType(r.Header, kind); err != nil {
		return nil, err
	}
	if r.ContentLength > limit {
		return nil, tooLarge(limit)
	}
	var body bytes.Buffer
	body.Grow(int(min(max(r.ContentLength, 0), firstBuffer)) + bytes.MinRead)
	if _, err := body.ReadFrom(http.MaxBytesReader(w, r.Body, limit)); err != nil {
		return nil, readFailed(err, limit)
	}
	return body.Bytes(), nil
}

func checkMediaType(header http.Header, wanted string) error {
	if encoding := header.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return protocol.Errorf(protocol.CodeUnsupportedMediaType, "Content-Encoding %q is not taken", protocol.Echo(encoding))
	}
	given := header.Get("Content-Type")
	kind, params, err := mime.ParseMediaType(given)
	if err != nil || kind != wanted || len(header.Values("Content-Type")) != 1 {
		return protocol.Errorf(protocol.CodeUnsupportedMediaType, "Content-Type must be %s, not %q", wanted, protocol.Echo(given))
	}
	if charset, named := params["charset"]; named && !strings.EqualFold(charset, "utf-8") {
		return protocol.Errorf(protocol.CodeUnsupportedMediaType, "the body is to be UTF-8, not charset %q", protocol.Echo(charset))
	}
	return nil
}

func readFailed(err error, limit int64) error {
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return tooLarge(limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return protocol.Errorf(protocol.CodeInvalidRequest, "body did not arrive in time").Because(err)
	default:
		return protocol.Errorf(protocol.CodeInvalidRequest, "body ended early or is not framed as HTTP asks").Because(err)
	}
}

func tooLarge(limit int64) error {
	return protocol.Errorf(protocol.CodePayloadTooLarge, "body has more than %d bytes", limit)
}
