package httpx_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

func TestReadBodyRefusesByHeaderAndSize(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		body    string
		headers map[string]string
		code    protocol.Code // "" means taken
	}{
		"plain":             {"{}", map[string]string{"Content-Type": "application/json"}, ""},
		"charset":           {"{}", map[string]string{"Content-Type": `Application/JSON; charset="UTF-8"`}, ""},
		"identity":          {"{}", map[string]string{"Content-Type": "application/json", "Content-Encoding": "identity"}, ""},
		"exactly the limit": {"0123456789", map[string]string{"Content-Type": "application/json"}, ""},
		"one byte over":     {"0123456789x", map[string]string{"Content-Type": "application/json"}, protocol.CodePayloadTooLarge},
		"empty":             {"", map[string]string{"Content-Type": "application/json"}, protocol.CodeInvalidRequest},
		"no type":           {"{}", nil, protocol.CodeUnsupportedMediaType},
		"text":              {"{}", map[string]string{"Content-Type": "text/plain"}, protocol.CodeUnsupportedMediaType},
		"broken type":       {"{}", map[string]string{"Content-Type": "application/json; ="}, protocol.CodeUnsupportedMediaType},
		"like JSON":         {"{}", map[string]string{"Content-Type": "application/jsonp"}, protocol.CodeUnsupportedMediaType},
		"UTF-16":            {"{}", map[string]string{"Content-Type": "application/json; charset=utf-16"}, protocol.CodeUnsupportedMediaType},
		"gzip":              {"{}", map[string]string{"Content-Type": "application/json", "Content-Encoding": "gzip"}, protocol.CodeUnsupportedMediaType},
	}
	for name, test := range tests {
		for _, framing := range []string{"length", "chunked"} {
			if test.body == "" && framing == "chunked" {
				continue // an empty chunked body is the decoder's to refuse
			}
			r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(test.body))
			if framing == "chunked" {
				r.ContentLength = -1
			}
			for key, value := range test.headers {
				r.Header.Set(key, value)
			}
			body, err := httpx.ReadBody(httptest.NewRecorder(), r, 10)
			if test.code == "" {
				require.NoError(t, err, name)
				require.Equal(t, test.body, string(body))
				continue
			}
			var refusal *protocol.Error
			require.ErrorAs(t, err, &refusal, name)
			require.Equal(t, test.code, refusal.Code, name)
		}
	}
}

// counting tells how much was taken from an endless body.
type counting struct{ taken int }

func (c *counting) Read(into []byte) (int, error) {
	c.taken += len(into)
	return len(into), nil
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("connection lost") }

func TestReadBodyStopsAtTheLimit(t *testing.T) {
	t.Parallel()
	for _, announced := range []int64{1 << 40, -1} {
		endless := &counting{}
		r := httptest.NewRequest(http.MethodPost, "/", io.NopCloser(endless))
		r.ContentLength = announced
		r.Header.Set("Content-Type", "application/json")
		_, err := httpx.ReadBody(httptest.NewRecorder(), r, 64<<10)
		var refusal *protocol.Error
		require.ErrorAs(t, err, &refusal)
		require.Equal(t, protocol.CodePayloadTooLarge, refusal.Code)
		require.LessOrEqual(t, endless.taken, 80<<10)
		if announced > 0 {
			require.Zero(t, endless.taken, "an announced length is refused unread")
		}
	}
}

func TestReadBodyNamesABrokenBody(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequest(http.MethodPost, "/", failing{})
	r.Header.Set("Content-Type", "application/json")
	_, err := httpx.ReadBody(httptest.NewRecorder(), r, 10)
	var refusal *protocol.Error
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, protocol.CodeInvalidRequest, refusal.Code)
	require.NotContains(t, refusal.Message, "connection lost")
}

func TestReadFormTakesFormsOnly(t *testing.T) {
	t.Parallel()
	for kind, status := range map[string]int{
		"application/x-www-form-urlencoded":                http.StatusOK,
		"application/x-www-form-urlencoded; charset=UTF-8": http.StatusOK,
		"application/json":                                 http.StatusUnsupportedMediaType,
		"multipart/form-data; boundary=x":                  http.StatusUnsupportedMediaType,
		"text/plain":                                       http.StatusUnsupportedMediaType,
		"":                                                 http.StatusUnsupportedMediaType,
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader("a=1"))
		r.Header.Set("Content-Type", kind)
		body, err := httpx.ReadForm(httptest.NewRecorder(), r, 100)
		if status == http.StatusOK {
			require.NoError(t, err)
			require.Equal(t, "a=1", string(body))
			continue
		}
		refusal, ok := errors.AsType[*protocol.Error](err)
		require.True(t, ok, kind)
		require.Equal(t, protocol.CodeUnsupportedMediaType, refusal.Code)
	}
}
