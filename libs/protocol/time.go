package protocol

import (
	"fmt"
	"time"
)

const timestampLayout = "2006-01-02T15:04:05.000Z"

// Timestamp is a time that is written as RFC 3339, UTC, with milliseconds.
type Timestamp struct{ time.Time }

// AtMillis returns the Timestamp of ms, milliseconds since 1970 of the store's clock.
func AtMillis(ms int64) Timestamp { return Timestamp{time.UnixMilli(ms).UTC()} }

// MarshalJSON implements json.Marshaler.
func (t Timestamp) MarshalJSON() ([]byte, error) {
	return []byte(`"` + t.UTC().Format(timestampLayout) + `"`), nil
}

// UnmarshalJSON implements json.Unmarshaler; it reads any RFC 3339 time.
func (t *Timestamp) UnmarshalJSON(data []byte) error {
	if err := t.Time.UnmarshalJSON(data); err != nil {
		return fmt.Errorf("read timestamp: %w", err)
	}
	return nil
}
