// Package grants is what a caller may do, as the API server says: asked for few requests at a time, each once.
package grants
