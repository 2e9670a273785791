package httpapi

import (
	"net/http"
	"strconv"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// samplesAsked returns how many samples of a group a query asks for, 0 for none.
func samplesAsked(r *http.Request) (int, error) {
	values, err := valuesOf(r)
	if err != nil {
		return 0, err
	}
	text := values.Get(samplesParameter)
	if text == "" {
		return 0, nil
	}
	count, err := strconv.Atoi(text)
	if err != nil || count < 1 || count > protocol.MaxSamples {
		return 0, invalid("%s is %q; it is a number from 1 to %d", samplesParameter, protocol.Echo(text), protocol.MaxSamples)
	}
	return count, nil
}

// samples returns so many samples of a group, nil for 0.
func (l Look) samples(stream, group string, count int) *protocol.Samples {
	if count == 0 {
		return nil
	}
	made := l.Snapshot.Samples(stream, group, count)
	return &made
}
