package view

import "strings"

func join(words []string) string { return strings.Join(words, ", ") }
