package config

import "log/slog"

// mask stands for a secret that is set.
const mask = "********"

// Secret is a text that is never printed, logged or marshalled; Reveal gives it.
type Secret string

// Reveal returns the text.
func (s Secret) Reveal() string { return string(s) }

// String implements fmt.Stringer with a mask, or nothing when the secret is not set.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return mask
}

// GoString keeps %#v from showing the text.
func (s Secret) GoString() string { return `config.Secret("` + s.String() + `")` }

// MarshalText keeps encoders from showing the text.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue implements slog.LogValuer.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }
