package protocol

// PendingResponse is a page of the entries of one shard that a group was given and has not
// acknowledged, those with the lowest ids first.
type PendingResponse struct {
	StreamPrefix  string  `json:"streamPrefix"`
	ConsumerGroup string  `json:"consumerGroup"`
	Shard         ShardID `json:"shard"`
	StreamKey     string  `json:"streamKey"`
	// Consumer is the one whose entries they are; null for all.
	Consumer *string        `json:"consumer"`
	Limit    int            `json:"limit"`
	Entries  []PendingEntry `json:"entries"`
	// NextCursor asks for the page that follows; null when there is nothing more.
	NextCursor *string `json:"nextCursor"`
}

// PendingEntry is an entry that was delivered and not acknowledged. Its record may be gone.
type PendingEntry struct {
	RecordID string `json:"recordId"`
	// Consumer is who was given it last, the id of a member where members read; what is no
	// UTF-8 is replaced.
	Consumer string `json:"consumer"`
	// IdleMs is how long ago that was, in milliseconds, DeliveryCount how often it was given.
	IdleMs        int64 `json:"idleMs"`
	DeliveryCount int64 `json:"deliveryCount"`
	// RecordTime is the time of the id; null for ids that are no times.
	RecordTime *Timestamp `json:"recordTime"`
}
