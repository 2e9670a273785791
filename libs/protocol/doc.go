// Package protocol holds what clients and servers of the suite say to each other:
// the JSON shapes of the coordinator's API, the names that are allowed in it, the
// table of error codes and the timing defaults.
//
// The shapes are those of the original public service plus optional request fields
// and extra response fields (wire contract). Unknown values are null, never 0 or "".
package protocol

// Version is the newest coordination protocol that this suite speaks.
const Version = 1

// MinVersion is the oldest coordination protocol that this suite speaks.
const MinVersion = 1

// RoutingProtocol numbers the way from a partition key to a shard (libs/routing).
const RoutingProtocol = 1

// BasePath is the default prefix of every path of the API.
const BasePath = "/coord/v1"
