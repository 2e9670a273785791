package httpx

import "net/http"

// recorder notes what went through a ResponseWriter; status 0 means nothing yet.
type recorder struct {
	http.ResponseWriter
	status int
	bytes  int64
}

// record returns w itself when it records already.
func record(w http.ResponseWriter) *recorder {
	if rec, ok := w.(*recorder); ok {
		return rec
	}
	return &recorder{ResponseWriter: w}
}

// Watch returns a writer in place of w, and what tells the status that went through it: 0 as
// long as there is none. Stages that watch the same answer share one writer.
func Watch(w http.ResponseWriter) (http.ResponseWriter, func() int) {
	rec := record(w)
	return rec, func() int { return rec.status }
}

// WriteHeader notes the final status; 1xx answers come before it.
func (w *recorder) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *recorder) Write(data []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(data)
	w.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach flushing and deadlines.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }
