// Package migrationcontroller is the plugin MigrationController at the extension points evict and filter: it says which pods may leave,
// by decision/descheduling/evictability, and what their migration jobs are like. The jobs are carried out by descheduler/migration.
package migrationcontroller
