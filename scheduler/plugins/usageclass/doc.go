// Package usageclass is the scheduler plugin that keeps pods of one usage class, which burst together, apart.
package usageclass
