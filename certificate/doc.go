// Package certificate issues the serving certificates of the servers without another operator: koord-manager has a
// certificate authority in a Secret, issues and renews the serving certificates of the components from it, and every
// server reads its own Secret and reloads when it changes.
//
// A Secret without the label ManagedByLabel=Manager belongs to another tool, such as cert-manager, or an administrator:
// it is only read.
package certificate
