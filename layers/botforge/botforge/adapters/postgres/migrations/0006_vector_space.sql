-- Which embedding model made the vectors of passages, tools and routing examples: vectors of two models are never
-- compared. One row: a database changes its model as a whole (scripts/reindex).

create table vector_space (
    only_one boolean primary key default true check (only_one),
    model_id text not null check (char_length(model_id) between 1 and 200)
);
-- Until now there was one model.
insert into vector_space (model_id) select 'all-MiniLM-L6-v2' where exists (select from bots);

grant select, insert on vector_space to botforge_tenant;
grant select, insert, update on vector_space to botforge_worker;
grant update (embedding) on routing_examples to botforge_worker;
