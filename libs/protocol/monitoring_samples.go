package protocol

// MaxSamples is how many samples of a group may be asked for.
const MaxSamples = 60

// Samples is what was observed of a group in the last minutes, for lines of a few pixels: for each
// value a list of means over spans of equal length, oldest first. One is null where nothing was
// known in its span; the others are right to 1 %.
type Samples struct {
	// Until is when the newest span ends, which may not be over; StepMs is how long each is, in
	// milliseconds.
	Until  Timestamp `json:"until"`
	StepMs int64     `json:"stepMs"`
	// ProducedPerSecond counts the entries that are added, ConsumedPerSecond those that are
	// delivered to the group; Lag is how many wait for that.
	ProducedPerSecond []*float64 `json:"producedPerSecond"`
	ConsumedPerSecond []*float64 `json:"consumedPerSecond"`
	Lag               []*float64 `json:"lag"`
}
