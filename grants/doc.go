// Package grants checks what a user may do by SubjectAccessReviews, few at a time and each once.
package grants
