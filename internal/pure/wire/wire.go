// Package wire holds what both ends of the HTTP API say: the bodies of requests, the answers that
// are not types of the vocabulary, and the names of headers, media types and events. The server
// in internal/ui/httpapi and the SDK in client use the same declarations.
//
// It declares and computes nothing. The tags doc and nullable are for the OpenAPI document. Names
// on the wire are never changed.
package wire

// Media types.
const (
	JSONType    = "application/json"
	EventType   = "text/event-stream"
	ProblemType = "application/problem+json"
	TarType     = "application/x-tar"
)

// Headers, and the trailer that says how a body of bytes ended.
const (
	EntryHeader       = "Retake-Entry" // the entry of a file, as JSON in base64url
	IdempotencyHeader = "Idempotency-Key"
	VersionHeader     = "Retake-Version" // of our command line
	EndTrailer        = "Retake-End"     // EndOK, or a problem as JSON in base64url
	EndOK             = "ok"
)

// Names of events in the stream of a request that reports progress.
const (
	ProgressEvent = "progress"
	ResultEvent   = "result"
	ProblemEvent  = "problem"
)
