package httpapi

import "net/http"

// Refuse answers every request with the problem that err is: for a service that
// could not be opened.
func Refuse(err error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { writeProblem(w, problemOf(err)) })
}
