package show

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode"
	"unicode/utf16"
)

// JSON writes v as indented JSON. Characters that could steer a terminal are escaped; the
// meaning is the same.
func JSON(w io.Writer, v any) error { return encode(w, v, "  ") }

// JSONLine writes v as one line of JSON; see JSON.
func JSONLine(w io.Writer, v any) error { return encode(w, v, "") }

func encode(w io.Writer, v any, indent string) error {
	var plain bytes.Buffer
	encoder := json.NewEncoder(&plain)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", indent)
	if err := encoder.Encode(v); err != nil {
		return fmt.Errorf("encode answer: %w", err)
	}
	// Beyond ASCII a JSON text has characters in its strings only; the encoder itself
	// escapes the control characters below.
	var safe []byte
	for _, r := range plain.String() {
		switch {
		case r < 0x7f || unicode.IsPrint(r):
			safe = append(safe, string(r)...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			safe = fmt.Appendf(safe, `\u%04x\u%04x`, high, low)
		default:
			safe = fmt.Appendf(safe, `\u%04x`, r)
		}
	}
	if _, err := w.Write(safe); err != nil {
		return fmt.Errorf("print answer: %w", err)
	}
	return nil
}
