-- A database of claude-mem, schema 35, as far as it is read; made up.
CREATE TABLE sdk_sessions (
  id INTEGER PRIMARY KEY, content_session_id TEXT UNIQUE NOT NULL, memory_session_id TEXT UNIQUE,
  project TEXT NOT NULL, platform_source TEXT NOT NULL DEFAULT 'claude', user_prompt TEXT,
  started_at_epoch INTEGER NOT NULL, completed_at_epoch INTEGER, status TEXT, prompt_counter INTEGER,
  custom_title TEXT);
INSERT INTO sdk_sessions VALUES
  (1, '5e55a000-0000-4000-8000-000000000001', 'mem-1', 'shop', 'claude', 'mend the cart', 1760000000000, 1760000900000, 'completed', 2, NULL),
  (2, '5e55a000-0000-4000-8000-000000000002', 'mem-2', 'notes', 'claude', NULL, 1760100000000, NULL, 'active', 1, 'Notes, sorted');
CREATE TABLE user_prompts (
  id INTEGER PRIMARY KEY, content_session_id TEXT NOT NULL, prompt_number INTEGER NOT NULL,
  prompt_text TEXT NOT NULL, created_at_epoch INTEGER NOT NULL);
INSERT INTO user_prompts VALUES
  (1, '5e55a000-0000-4000-8000-000000000001', 1, 'The cart test fails, mend it <private>not this</private>', 1760000001000),
  (2, '5e55a000-0000-4000-8000-000000000001', 2, 'Push it with SECRET', 1760000600000),
  (3, '5e55a000-0000-4000-8000-000000000002', 1, 'Sort my notes', 1760100001000);
CREATE TABLE observations (
  id INTEGER PRIMARY KEY, memory_session_id TEXT NOT NULL, project TEXT NOT NULL, text TEXT, type TEXT NOT NULL,
  title TEXT, subtitle TEXT, facts TEXT, narrative TEXT, concepts TEXT, files_read TEXT, files_modified TEXT,
  prompt_number INTEGER, discovery_tokens INTEGER, agent_id TEXT, merged_into_project TEXT, created_at_epoch INTEGER NOT NULL);
INSERT INTO observations VALUES
  (10, 'mem-1', 'shop', NULL, 'bugfix', 'Empty carts no longer panic', 'A sum starts at zero',
   '["total() used reduce().unwrap()", "an empty cart costs 0"]', 'The cart panicked when it was empty. Now it sums.',
   '["problem-solution", "cart"]', '["src/cart.rs"]', '["src/cart.rs"]', 1, 4200, NULL, NULL, 1760000300000),
  (11, 'mem-1', 'shop', 'An old row of plain text', 'security_note', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 'agent-7', NULL, 1760000400000);
CREATE TABLE session_summaries (
  id INTEGER PRIMARY KEY, memory_session_id TEXT NOT NULL, project TEXT NOT NULL, request TEXT, investigated TEXT,
  learned TEXT, completed TEXT, next_steps TEXT, notes TEXT, files_read TEXT, files_edited TEXT,
  prompt_number INTEGER, created_at_epoch INTEGER NOT NULL);
INSERT INTO session_summaries VALUES
  (5, 'mem-1', 'shop', 'Mend the cart', 'The failing test', 'reduce() of nothing is None', '- Changed total() to sum',
   'Log every discount', NULL, '[]', '["src/cart.rs"]', 1, 1760000800000);
CREATE TABLE pending_messages (
  id INTEGER PRIMARY KEY, session_db_id INTEGER, content_session_id TEXT NOT NULL, tool_use_id TEXT, message_type TEXT NOT NULL,
  tool_name TEXT, tool_input TEXT, tool_response TEXT, cwd TEXT, status TEXT NOT NULL, created_at_epoch INTEGER NOT NULL);
INSERT INTO pending_messages VALUES
  (1, 1, '5e55a000-0000-4000-8000-000000000001', 'toolu_a', 'observation', 'Bash',
   '{"command":"cargo test cart"}', '{"stdout":"test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out","stderr":""}',
   '/home/dev/shop', 'pending', 1760000850000);
CREATE TABLE tool_uses (
  id INTEGER PRIMARY KEY, tool_use_id TEXT NOT NULL, content_session_id TEXT NOT NULL, project TEXT NOT NULL, tool_name TEXT NOT NULL,
  tool_input TEXT, tool_response TEXT, cwd TEXT, agent_id TEXT, observation_id INTEGER, created_at_epoch INTEGER NOT NULL);
INSERT INTO tool_uses VALUES
  (1, 'toolu_b', '5e55a000-0000-4000-8000-000000000001', 'shop', 'Write',
   '{"file_path":"/home/dev/shop/src/tax.rs","content":"pub fn tax() {}\n"}',
   '{"type":"create","filePath":"/home/dev/shop/src/tax.rs","content":"pub fn tax() {}\n","structuredPatch":[]}',
   '/home/dev/shop', NULL, NULL, 1760000860000),
  (2, 'toolu_c', '5e55a000-0000-4000-8000-000000000001', 'shop', 'Bash', '{"command":"ls"}', 'cut off [truncated', '/home/dev/shop', NULL, 10, 1760000870000);
