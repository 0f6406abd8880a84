// Package certificate gives the system's servers their TLS identity without another operator: koord-manager keeps a
// certificate authority in a Secret, issues and renews the serving certificates of the components from it, and every
// server reads its own Secret and reloads when it changes.
//
// A Secret that does not carry the label ManagedByLabel=Manager is somebody else's (cert-manager's, an administrator's):
// it is used as it is and never written.
package certificate
