package httpx

import "unicode/utf16"

const escapeLength = len(`\u0000`)

// loneSurrogate reports whether the JSON string token has an escaped surrogate
// without its other half.
func loneSurrogate(token []byte) bool {
	for i := 0; i < len(token); i++ {
		if token[i] != '\\' {
			continue
		}
		unit, ok := escapedUnit(token, i)
		if !ok {
			i++ // the escaped character, which may be a backslash
			continue
		}
		i += escapeLength - 1
		if !utf16.IsSurrogate(unit) {
			continue
		}
		low, ok := escapedUnit(token, i+1)
		if !ok || utf16.DecodeRune(unit, low) == '\uFFFD' {
			return true
		}
		i += escapeLength
	}
	return false
}

// escapedUnit reads the UTF-16 unit of the escape that begins at token[at], if it is one
// with a u.
func escapedUnit(token []byte, at int) (rune, bool) {
	if at+escapeLength > len(token) || token[at] != '\\' || token[at+1] != 'u' {
		return 0, false
	}
	var unit rune
	for _, digit := range token[at+2 : at+escapeLength] {
		switch {
		case '0' <= digit && digit <= '9':
			unit = unit<<4 | rune(digit-'0')
		default:
			unit = unit<<4 | rune(digit|0x20-'a'+10)
		}
	}
	return unit, true
}
