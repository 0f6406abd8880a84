// Package attack tries on a real cluster what a tenant, a stolen token or an anonymous caller would: each attempt has to be refused.
package attack
