//go:build race

package messages_test

// walked is how many records the long walks are over: fewer where every access is watched,
// which takes several times as long.
const walked = 200_000
