package observe

import (
	"context"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/redis-stream-coordinator/rsc/libs/redisx"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
)

// slotCount is how many hash slots a cluster has.
const slotCount = 16_384

// placeKeeper knows where slots are: from the cluster, asked once a round, or as it was
// when the cluster was last asked.
type placeKeeper struct {
	redis redis.UniversalClient
	slots []facts.Node // by slot; nil as long as no cluster has told
}

// refresh asks a cluster for its slots. A client of one server has nothing to ask.
func (k *placeKeeper) refresh(ctx context.Context) error {
	cluster, ok := k.redis.(*redis.ClusterClient)
	if !ok {
		return nil
	}
	ranges, err := cluster.ClusterSlots(ctx).Result()
	if err != nil {
		return fmt.Errorf("ask for the slots of the cluster: %w", err)
	}
	slots := make([]facts.Node, slotCount)
	for _, r := range ranges {
		if len(r.Nodes) == 0 || r.Start < 0 || r.End >= slotCount {
			continue
		}
		node := facts.Node{ID: some(r.Nodes[0].ID), Endpoint: some(r.Nodes[0].Addr), SlotFirst: &r.Start, SlotLast: &r.End}
		for slot := r.Start; slot <= r.End; slot++ {
			slots[slot] = node
		}
	}
	k.slots = slots
	return nil
}

// of returns the node that has a slot, as far as that is known.
func (k *placeKeeper) of(slot int) facts.Node {
	switch client := k.redis.(type) {
	case *redis.Client:
		return facts.Node{Endpoint: some(client.Options().Addr)}
	case *redis.ClusterClient:
		if k.slots != nil {
			return k.slots[slot]
		}
	}
	return facts.Node{}
}

// runIDOf returns the run id of the server that has a key, empty where it does not answer
// or is not the one at endpoint.
func (k *placeKeeper) runIDOf(ctx context.Context, key, endpoint string) string {
	server, err := redisx.Primary(ctx, k.redis, key)
	if err != nil {
		return ""
	}
	if cluster, ok := k.redis.(*redis.ClusterClient); ok && server.Options().Addr != endpoint {
		cluster.ReloadState(ctx) // the client's map is older than the one just asked for
		return ""
	}
	info, err := server.Info(ctx, "server").Result()
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(info, "run_id:")
	id, _, _ := strings.Cut(rest, "\r\n")
	return id
}

// some returns nil for a text that is not known.
func some(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
