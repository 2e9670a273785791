package api

import "github.com/redis-stream-coordinator/rsc/libs/protocol"

// idempotencyKey is the header under which the gateway carries a change out once (wire contract).
const idempotencyKey = "Idempotency-Key"

// maxOnce is the longest key that the gateway takes, in bytes.
const maxOnce = 128

// Once returns a Client over the same connections whose changes carry key. INVALID_REQUEST for
// a key that no gateway takes: it has 1 to 128 printable ASCII characters.
func (c *Client) Once(key string) (*Client, error) {
	if key == "" || len(key) > maxOnce {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "the key of a change has 1 to %d characters", maxOnce)
	}
	for i := range len(key) {
		if key[i] < ' ' || key[i] > '~' {
			return nil, protocol.Errorf(protocol.CodeInvalidRequest, "the key of a change has printable ASCII characters only")
		}
	}
	keyed := *c
	keyed.once = key
	return &keyed, nil
}
