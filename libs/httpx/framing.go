package httpx

import "net/http"

// framed closes the connection after a request with Transfer-Encoding, as RFC 9112, 6.3 asks
// for one that has a Content-Length too: a proxy in front may have gone by the length, and
// would take what follows for a request of somebody else. net/http goes by the chunks and
// does not show the length, so every such request is the last one of its connection.
func framed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.TransferEncoding) > 0 {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}
