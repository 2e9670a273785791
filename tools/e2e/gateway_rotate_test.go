package e2e_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const (
	rotatedSecret = "canary-secret-after-the-rotation-of-32-bytes"
	// keysAskedAgain is after how long a coordinator has surely asked for new keys.
	keysAskedAgain = 20 * time.Second
)

// gateway, Authentication: the previous secret is accepted during a rotation. Gateways that
// are restarted one by one first get to know the next secret, then sign with it, and at last
// forget the old one. No token is refused meanwhile; a coordinator that has just asked for the
// keys takes 2 s until it does so again, and its gateway says that it is to blame.
func TestGatewaySecretIsRotatedWithoutATokenBeingRefused(t *testing.T) {
	t.Parallel()
	g := startGuarded(t, guardedPlan{
		coordinators: 1, gateways: 2, gatewayFlags: []string{"--api-rate-limit-enabled=false"},
	})
	ops, changed := g.login(userOps), 0
	bothServe := func(token string) {
		t.Helper()
		for _, door := range g.gateways {
			changed++
			var got guardedReply
			require.Eventually(t, func() bool {
				got = g.askAt(door, createStream(token, fmt.Sprintf("orders-%d", changed)))
				return got.code() != protocol.CodeUpstreamFailed
			}, keysAskedAgain, often, "the coordinator knows the new key")
			require.Equal(t, http.StatusCreated, got.status, "%s: %s", door.name, got.body)
		}
	}
	oneByOne := func(secret, previous, token string) {
		t.Helper()
		g.secret, g.previous = secret, previous
		g.configure(guardedUsers(t)...)
		for _, door := range slices.Backward(g.gateways) { // that with the coordinator's keys comes last
			door.kill()
			door.restart()
			g.ready(door)
			bothServe(token)
		}
	}
	bothServe(ops)
	oneByOne(guardedSecret, rotatedSecret, ops)
	oneByOne(rotatedSecret, guardedSecret, ops)
	later := g.login(userOps)
	bothServe(later)
	bothServe(ops)
	oneByOne(rotatedSecret, "", later)
	for _, door := range g.gateways {
		g.refusedAt(door, createStream(ops, stream), http.StatusUnauthorized, protocol.CodeUnauthorized)
	}
}
