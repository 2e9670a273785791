// Package charttest renders the Helm chart as Helm does, for its tests: with the values of a
// file, against a cluster that exists or not.
//
//	chart.go    finding, loading and rendering
//	object.go   what is rendered, decoded as strictly as an API server would
//	cluster.go  a Kubernetes API that holds Secrets, for lookup
package charttest
