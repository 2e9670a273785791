// Package group is the state machine of a consumer group: who is a member, who should
// read which shard (the target), and who may be reading it now (the holds).
//
// It is arithmetic. Step takes a state, what has been heard, and the store's clock, and
// returns the next state with the answers; it reads no clock, draws no random number,
// logs nothing and starts nothing. Ids and nonces arrive in the Input. The same code
// runs in production, in the model exploration and in simulations.
//
// Rule numbers in comments are those of the group protocol (H holds, E epochs, J joining
// and leaving, R reports, A answers, S assignment, T time, M metadata correction).
//
// The one thing to know before changing anything here: a hold is the only kind of
// ownership (H1–H4). A change of the target never ends a hold, and nobody is granted a
// shard that is held.
package group
