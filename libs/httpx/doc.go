// Package httpx is what the HTTP servers of the suite share: request ids, bodies
// that are read strictly, answers and refusals in the one shape of the wire
// contract, the access log, the recovery from panics, a gate for termination, and a
// server with every limit set.
//
// The usual order of the middleware, outermost first:
//
//	Identify    gives the request its id; everything after may log and answer it
//	AccessLog   one line a request, whatever the inner handlers answer
//	Recover     a panic becomes a 500 that the access log sees
//	Gate        503 while the process terminates
//
// Non-obvious:
//   - Handlers return *protocol.Error for what the caller may know. Any other error is
//     logged and answered as INTERNAL_ERROR without its text.
//   - Decoder is not encoding/json: keys must match in case, a missing field or a null
//     is told apart from a zero, and duplicate keys are refused.
package httpx
