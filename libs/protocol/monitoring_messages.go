package protocol

// MessageDirection is the way in which pages of messages follow each other.
type MessageDirection string

// The directions.
const (
	DirectionForward  MessageDirection = "FORWARD"  // from the oldest to the newest
	DirectionBackward MessageDirection = "BACKWARD" // from the newest to the oldest
)

// Bounds of one page of messages. Limits outside are moved into them (monitoring, APIs).
const (
	DefaultMessages = 25
	MaxMessages     = 1000
	// MaxMessagePayload is how many bytes of a value are shown.
	MaxMessagePayload = 64 << 10
)

// StreamMessagesPageResponse is a page of the records of one shard.
type StreamMessagesPageResponse struct {
	StreamPrefix  string                `json:"streamPrefix"`
	ConsumerGroup string                `json:"consumerGroup"`
	Shard         ShardID               `json:"shard"`
	StreamKey     string                `json:"streamKey"`
	Direction     MessageDirection      `json:"direction"`
	Limit         int                   `json:"limit"`
	Records       []StreamMessageRecord `json:"records"`
	// NextCursor asks for the page that follows; null when there is nothing more.
	NextCursor *string `json:"nextCursor"`
}

// StreamMessageRecord is one record. Fields that occur twice show their last value.
type StreamMessageRecord struct {
	StreamPrefix  string            `json:"streamPrefix"`
	ConsumerGroup string            `json:"consumerGroup"`
	Shard         ShardID           `json:"shard"`
	StreamKey     string            `json:"streamKey"`
	RecordID      string            `json:"recordId"`
	Fields        map[string]string `json:"fields"`
	// Payload is the value of the field payload; null without such a field.
	Payload *string `json:"payload"`
	// RecordTimestampMs and RecordTime are those of the id; null for ids that are no times.
	RecordTimestampMs *int64     `json:"recordTimestampMs"`
	RecordTime        *Timestamp `json:"recordTime"`

	// Base64Fields names the fields whose values are binary and shown as base64, CutFields
	// those of which only the first MaxMessagePayload bytes are shown. Both are sorted.
	Base64Fields []string `json:"base64Fields"`
	CutFields    []string `json:"cutFields"`
}
