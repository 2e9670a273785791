package httpx

import (
	"errors"
	"net/http"
	"strings"
)

// challenge names the way to authenticate, as RFC 9110 asks for with a 401.
const challenge = `Bearer realm="redis-stream-coordinator"`

// Bearer returns the token of the one Authorization header that a request may have. The
// error is for logs; it does not repeat the header.
func Bearer(header http.Header) (string, error) {
	given := header.Values("Authorization")
	if len(given) != 1 {
		return "", errors.New("there is not exactly one Authorization header")
	}
	scheme, token, _ := strings.Cut(given[0], " ")
	token = strings.TrimSpace(token)
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		return "", errors.New("the Authorization header has no bearer token")
	}
	return token, nil
}
