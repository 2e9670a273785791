package embedded

import (
	"fmt"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
)

// expiryStep is how often the imitation is told that time has passed.
const expiryStep = 100 * time.Millisecond

// startImitation runs miniredis on a free loopback port.
func startImitation() (*Redis, error) {
	mini := miniredis.NewMiniRedis()
	if err := mini.StartAddr("127.0.0.1:0"); err != nil {
		return nil, fmt.Errorf("start the embedded imitation of Redis: %w", err)
	}
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		expire(mini, stop)
		mini.Close()
	}()
	return &Redis{
		Address: mini.Addr(),
		About:   "an imitation of Redis inside this process, as there is no redis-server on PATH",
		Limits: []string{
			"it is for trying things out: data is not kept, and it is slower than Redis",
			"the lag of a consumer group always equals the length of the stream, entries-read is unknown",
			"keys expire by a ticker of this process, within 100 ms",
			"INFO is refused in scripts, so that it is not noticed when data goes back in time",
		},
		ended: ended,
		stop: func() error {
			close(stop)
			<-ended
			return nil
		},
	}, nil
}

// expire moves the imitation's time on, which by itself only passes for streams.
func expire(mini *miniredis.Miniredis, stop <-chan struct{}) {
	ticker := clock.NewTicker(expiryStep)
	defer ticker.Stop()
	last := clock.Now()
	for {
		select {
		case <-stop:
			return
		case <-ticker.C:
			now := clock.Now()
			mini.FastForward(now.Sub(last))
			last = now
		}
	}
}
