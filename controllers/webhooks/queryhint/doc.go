// Package queryhint writes scheduling hints to the pods of query engines when they are created.
package queryhint
