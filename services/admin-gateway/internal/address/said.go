package address

import (
	"net/http"
	"strings"
)

// headerFor is the one header that is believed, where a trusted proxy sends it.
const headerFor = "X-Forwarded-For"

// maxSaid is how many bytes of a request's claims are noted.
const maxSaid = 256

// said returns the headers in which a request says where it comes from, one after the other
// with their names, cut to maxSaid bytes.
func said(header http.Header) string {
	var text strings.Builder
	for _, name := range [...]string{headerFor, "Forwarded", "X-Real-Ip", "True-Client-Ip"} {
		for _, value := range header[name] {
			if text.Len() >= maxSaid {
				break
			}
			if text.Len() > 0 {
				text.WriteString("; ")
			}
			text.WriteString(name + ": " + value[:min(len(value), maxSaid)])
		}
	}
	cut := text.String()
	return strings.ToValidUTF8(cut[:min(len(cut), maxSaid)], "")
}
