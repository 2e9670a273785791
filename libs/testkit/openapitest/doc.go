// Package openapitest checks requests and answers against docs/api/openapi.yaml, the
// contract of record (wire contract). A handler's test loads the document and hands every
// exchange to Check:
//
//	document := openapitest.Load(t)
//	document.Check(t, openapitest.Exchange{Method: "GET", Path: "/coord/v1/streams", Status: 200, ...})
//
// It is stricter than a client may be: fields that the document does not name, statuses and
// error codes that it does not list are faults, and so is a request that was carried out
// although the document does not allow it.
package openapitest
