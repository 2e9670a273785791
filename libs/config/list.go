package config

import (
	"reflect"
	"strings"
)

// Entry is one setting of a list for people.
type Entry struct {
	// Key is the setting's key without the root, for example redis.host.
	Key string
	// Value is written as in the environment, with what is secret masked; empty where nothing
	// is set.
	Value string
	// Masked tells that Value, or a part of it, is not shown.
	Masked bool
}

// List returns the settings of a struct in the order of its fields, for others than those who
// wrote them: secrets are masked as Print masks them, and so are users, passwords and queries of
// URLs, and lists of structs as a whole, which tell of users.
func List(of any) []Entry {
	settings := leaves(reflect.ValueOf(of))
	entries := make([]Entry, len(settings))
	for i, setting := range settings {
		entries[i] = setting.entry()
	}
	return entries
}

func (l leaf) entry() Entry {
	switch {
	case l.table():
		return Entry{Key: l.key, Value: mask, Masked: true}
	case l.secret():
		return Entry{Key: l.key, Value: l.text(), Masked: l.text() != ""}
	default:
		shown, masked := maskURLs(l.text())
		return Entry{Key: l.key, Value: shown, Masked: masked}
	}
}

// maskURLs masks what may be a credential in a text with URLs, and tells whether there was
// something: all between the first scheme and the last @ behind it, and all behind the first
// question mark. That may hide more than is secret, as a password can hold any character that
// would end it in a proper URL.
func maskURLs(text string) (shown string, masked bool) {
	scheme, rest, isURL := strings.Cut(text, "://")
	if !isURL {
		return text, false
	}
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		rest, masked = mask+rest[at:], true
	}
	if head, _, asks := strings.Cut(rest, "?"); asks {
		rest, masked = head+"?"+mask, true
	}
	return scheme + "://" + rest, masked
}
