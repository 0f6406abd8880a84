// Package podselection says which pods the arguments of a plugin of koord-descheduler let leave: by namespace and by labels.
package podselection
