// Package refusal knows requests that the API server refused (quotas, webhooks, policies), with the words of who refused,
// and when to try them again.
package refusal
