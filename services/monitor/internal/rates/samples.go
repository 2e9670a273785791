package rates

import (
	"strconv"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Samples returns the history of a group's sums in n spans that cover all the time that the history
// may reach back, the newest begun and not over. A span's value is the mean of what was known in
// it, nil where nothing was. n is 1 or more.
func (s Snapshot) Samples(stream, group string, n int) protocol.Samples {
	step := max(s.window/time.Duration(n), 1)
	until := s.At.Truncate(step).Add(step)
	produced, consumed, lag := make([]mean, n), make([]mean, n), make([]mean, n)
	for _, sum := range s.GroupHistory(stream, group) {
		at := n - 1 - int(until.Sub(sum.At)-1)/int(step)
		if at < 0 || at >= n {
			continue
		}
		produced[at].add(sum.Produced)
		consumed[at].add(sum.Consumed)
		lag[at].add(sum.Lag)
	}
	return protocol.Samples{
		Until: protocol.Timestamp{Time: until}, StepMs: step.Milliseconds(),
		ProducedPerSecond: means(produced), ConsumedPerSecond: means(consumed), Lag: means(lag),
	}
}

// mean is that of the values that were known.
type mean struct {
	sum   float64
	count int
}

func (m *mean) add(value *float64) {
	if value != nil {
		m.sum, m.count = m.sum+*value, m.count+1
	}
}

// sampleDigits is how many digits of a sample count, so that it is short.
const sampleDigits = 3

func means(of []mean) []*float64 {
	values := make([]*float64, len(of))
	for i, m := range of {
		if m.count == 0 {
			continue
		}
		// What was formatted can be read.
		value, _ := strconv.ParseFloat(strconv.FormatFloat(m.sum/float64(m.count), 'g', sampleDigits, 64), 64)
		values[i] = &value
	}
	return values
}
