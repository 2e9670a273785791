package trial

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/redis-stream-coordinator/rsc/examples/replay/internal/ledger"
	"github.com/redis-stream-coordinator/rsc/libs/clock"
)

// ErrNoProcess comes when a consumer is to be killed that is not a process of its own.
var ErrNoProcess = errors.New("consumer is not a process of its own")

// Crew starts a consumer that acts under the name member and writes the ledger at path. It
// outlives ctx, so that it can leave in good order.
type Crew func(ctx context.Context, member, path string) (Worker, error)

// Worker is a running consumer.
type Worker interface {
	// Stop asks it to leave in good order.
	Stop()
	// Kill ends it at once, as a crash would, or fails with ErrNoProcess.
	Kill() error
	// Done is closed when it has ended; then Err says why, nil if in good order.
	Done() <-chan struct{}
	Err() error
}

// member is a worker with its name and ledger.
type member struct {
	Worker
	name, path string
}

// team is the consumers of a trial that are at work.
type team struct {
	trial   *Trial
	members []member
	hired   int
}

func newTeam(t *Trial) *team { return &team{trial: t} }

// hire starts one more consumer.
func (t *team) hire(ctx context.Context) error {
	t.hired++
	name := fmt.Sprintf("c%d", t.hired)
	path := filepath.Join(t.trial.Ledgers, name+ledger.Extension)
	worker, err := t.trial.Crew(ctx, name, path)
	if err != nil {
		return fmt.Errorf("start consumer %s: %w", name, err)
	}
	t.members = append(t.members, member{Worker: worker, name: name, path: path})
	return nil
}

// paths returns the ledgers of those at work.
func (t *team) paths() []string {
	paths := make([]string, len(t.members))
	for at, one := range t.members {
		paths[at] = one.path
	}
	return paths
}

// kill kills a consumer and starts another one in its place.
func (t *team) kill(ctx context.Context, at int) error {
	victim := t.members[at]
	if err := victim.Kill(); err != nil {
		return fmt.Errorf("kill consumer %s: %w", victim.name, err)
	}
	<-victim.Done()
	t.members = append(t.members[:at], t.members[at+1:]...)
	return t.hire(ctx)
}

// failure returns why a consumer has ended that nobody has asked to.
func (t *team) failure() error {
	for _, one := range t.members {
		select {
		case <-one.Done():
			return fmt.Errorf("consumer %s ended: %w", one.name, errors.Join(errEnded, one.Err()))
		default:
		}
	}
	return nil
}

var errEnded = errors.New("nobody has asked it to")

// dismiss has all leave in good order; those that take longer than stopBudget are killed.
func (t *team) dismiss() {
	for _, one := range t.members {
		one.Stop()
	}
	timer := clock.NewTimer(stopBudget)
	defer timer.Stop()
	for _, one := range t.members {
		select {
		case <-one.Done():
			if err := one.Err(); err != nil {
				t.trial.Log.Warn("consumer did not end well", "consumer", one.name, "error", err)
			}
		case <-timer.C:
			timer.Reset(0) // for those that follow
			t.trial.Log.Warn("consumer does not end", "consumer", one.name)
			if one.Kill() == nil {
				<-one.Done()
			}
		}
	}
	t.members = nil
}
