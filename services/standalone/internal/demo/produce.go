package demo

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/clock"
)

const (
	keys           = 1000 // order-0 … order-999
	publishTimeout = 5 * time.Second

	// The fields of a record beside its key.
	fieldRun    = "run"
	fieldNumber = "number"
)

// produce publishes until ctx ends. When Redis is slow it falls behind and does not catch
// up.
func (d *Demo) produce(ctx context.Context, producer *client.Producer) {
	ticker := clock.NewTicker(time.Second / perSecond)
	defer ticker.Stop()
	failing := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		err := d.publish(context.WithoutCancel(ctx), producer)
		if (err != nil) != failing {
			failing = err != nil
			d.Log.Warn("demo producer", "publishes", !failing, "error", err)
		}
	}
}

func (d *Demo) publish(ctx context.Context, producer *client.Producer) error {
	ctx, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	number := d.ledger.publishing()
	_, err := producer.Publish(ctx, fmt.Sprintf("order-%d", number%keys), map[string]any{
		fieldRun: d.run, fieldNumber: strconv.Itoa(number),
	})
	if err != nil {
		d.ledger.unpublished(number, errors.Is(err, client.ErrUncertain), d.since())
		return err
	}
	d.ledger.published(number, d.since())
	return nil
}
