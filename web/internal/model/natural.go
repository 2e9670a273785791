package model

import (
	"cmp"
	"strings"
)

const digits = "0123456789"

// natural compares names as people do: numbers in them by their value, so that s-2 comes before
// s-10.
func natural(a, b string) int {
	for a != "" && b != "" {
		var numberA, numberB string
		numberA, a = leading(a)
		numberB, b = leading(b)
		if numberA != "" && numberB != "" {
			if order := cmp.Or(cmp.Compare(len(numberA), len(numberB)), cmp.Compare(numberA, numberB)); order != 0 {
				return order
			}
			continue
		}
		if a, b = numberA+a, numberB+b; a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Compare(len(a), len(b))
}

// leading splits off the number that a text begins with, without its leading zeros but the last.
func leading(text string) (number, rest string) {
	rest = strings.TrimLeft(text, digits)
	number = text[:len(text)-len(rest)]
	if trimmed := strings.TrimLeft(number, "0"); trimmed != "" || number == "" {
		return trimmed, rest
	}
	return "0", rest
}
