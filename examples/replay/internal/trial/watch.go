package trial

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
)

// watchEvery is how often the ledgers are looked at.
const watchEvery = 100 * time.Millisecond

// watch follows the replay until everything is handled and settled, something fails, or
// ctx ends. Fed gets the end of the feed.
func (t *Trial) watch(ctx context.Context, team *team, fed <-chan error) error {
	ticker := clock.NewTicker(watchEvery)
	defer ticker.Stop()
	meter := newMeter(t.Ledgers, t.Records)
	moments := plan(t.Kills, t.Joins, t.Records)
	left := error(nil)
	for {
		select {
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), left)
		case err := <-fed:
			if err != nil {
				return fmt.Errorf("publish: %w", err)
			}
			fed = nil
		case <-ticker.C:
		}
		if err := errors.Join(meter.read(), team.failure()); err != nil {
			return err
		}
		for len(moments) > 0 && meter.progress.Handled >= moments[0].at {
			if err := t.happen(ctx, moments[0].event, team, meter); err != nil {
				return err
			}
			moments = moments[1:]
		}
		meter.progress.Consumers = len(team.members)
		if t.Show != nil {
			t.Show(meter.progress)
		}
		if fed == nil && meter.progress.Handled >= t.Records {
			if left = t.settled(ctx); left == nil {
				return nil
			}
		}
	}
}

// happen carries an event out.
func (t *Trial) happen(ctx context.Context, what event, team *team, meter *meter) error {
	switch what {
	case kill:
		at := meter.busiest(team.paths())
		t.Log.Info("consumer is killed", "consumer", team.members[at].name, "handled", meter.progress.Handled)
		return team.kill(ctx, at)
	case join:
		t.Log.Info("consumer joins", "handled", meter.progress.Handled)
		return team.hire(ctx)
	}
	return nil
}
